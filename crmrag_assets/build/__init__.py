"""Steps of a build, and how they run, resume and report."""
