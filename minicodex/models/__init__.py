"""Who answers: a script by default, or any Responses endpoint."""
