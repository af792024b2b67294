"""From final documents to indexes: embeddings, dense, sparse, aggregation."""
