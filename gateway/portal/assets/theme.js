// The switch between light and dark. The choice is a matter of the device, so it outlives the tab; `theme-first.js` applies it before a page
// is drawn.

const THEME = 'portal-theme';

/** @param button null on pages without one */
export function openThemeSwitch(button) {
  if (button === null) return;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const current = () => document.documentElement.dataset.theme ?? (system.matches ? 'dark' : 'light');

  function show() {
    const next = current() === 'dark' ? 'light' : 'dark';
    button.setAttribute('aria-label', `Switch to ${next} colours`);
    button.title = `Switch to ${next} colours`;
  }

  button.addEventListener('click', () => {
    const next = current() === 'dark' ? 'light' : 'dark';
    // The reader chose the colours of the device, so the page follows the device again.
    if (next === (system.matches ? 'dark' : 'light')) {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem(THEME);
    } else {
      document.documentElement.dataset.theme = next;
      localStorage.setItem(THEME, next);
    }
    show();
  });
  system.addEventListener('change', show);
  show();
}
