// The colours of the page: the system's or the reader's choice. This is a plain script in the head, so that a page of the chosen colours
// does not flash in the others. The choice is a matter of the device, so it outlives the tab.

{
  const root = document.documentElement;
  const KEPT = 'console-theme';
  const THEMES = ['system', 'light', 'dark'];
  let theme = 'system';

  function choose(next) {
    theme = THEMES.includes(next) ? next : 'system';
    root.dataset.theme = theme;
  }

  try {
    choose(localStorage.getItem(KEPT));
  } catch {
    // A browser that lets pages store nothing shows the colours of the system.
  }

  addEventListener('DOMContentLoaded', () => {
    const button = document.getElementById('theme');
    const following = () => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];

    function show() {
      button.textContent = `Colours: ${theme}`;
      button.title = `Switch to ${following()}`;
    }

    button.addEventListener('click', () => {
      choose(following());
      if (theme === 'system') localStorage.removeItem(KEPT);
      else localStorage.setItem(KEPT, theme);
      show();
    });
    show();
  });
}
