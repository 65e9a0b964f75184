"""Exports of chats, forums and help desks -> messages, without a field named by the user.

A format is one module with an `EXPORT`: which files, which fields, which messages count.
"""
