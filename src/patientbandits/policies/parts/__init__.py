"""Parts that several policies share."""
