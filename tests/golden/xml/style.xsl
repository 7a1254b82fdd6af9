<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet xmlns:xsl="x"><x>1</x></xsl:stylesheet>