"""Everything a person looks at: view-models, widgets, figures, and starting the course itself."""
