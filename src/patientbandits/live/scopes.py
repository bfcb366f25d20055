"""What a key may be used for."""

SCOPES = ("decide", "convert", "read", "admin")
"""``admin`` includes the others."""
