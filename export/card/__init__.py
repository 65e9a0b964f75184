"""What is known of a module in, `README.md` and `assets.extra/` out."""
