"""Works the Dagster UI as an operator does, in a browser, and takes the pictures of docs/operate.md."""
