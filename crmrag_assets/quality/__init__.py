"""What must hold of finished artifacts, and what a person should look at: pure functions, no Dagster."""
