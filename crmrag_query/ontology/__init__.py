"""The CRM family: codes, labels, hierarchies, old names and Fundamental Categories."""
