"""Tests in a real browser; a package, so that its one server and page end with it."""
