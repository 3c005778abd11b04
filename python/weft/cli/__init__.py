"""The command line: each file parses one command and calls the API."""
