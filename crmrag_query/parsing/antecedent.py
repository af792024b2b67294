from crmrag_query.reading.earlier import *  # noqa
from crmrag_query.reading.earlier import antecedent_of, as_list, changed, rest_of, Antecedent
