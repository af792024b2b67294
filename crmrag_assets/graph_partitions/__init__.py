"""Graph partitions: cutting the entity graph, questions to train on, the aligner that is trained, and what it is worth."""
