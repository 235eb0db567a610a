// Loaded before the page is drawn, so that a page of the chosen colours does not flash in the others.
try {
  const theme = localStorage.getItem('portal-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // A browser that lets pages store nothing shows the colours of the device.
}
