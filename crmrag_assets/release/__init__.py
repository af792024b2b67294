"""From finished artifacts to a release that can be copied, checked and rolled back."""
