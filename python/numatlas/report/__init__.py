"""Results as one page of HTML that needs nothing else: numatlas.report.page.page."""
