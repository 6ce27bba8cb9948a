"""Transactions: #pragma hiroba atomic."""
