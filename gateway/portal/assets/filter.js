// The filter of the page of errors: rows that have every word, in tables that have such rows.

function openFilter(field) {
  const count = document.getElementById('filter-count');
  const none = document.getElementById('filter-none');
  const sections = [...document.querySelectorAll('[data-filtered]')];
  const rows = sections.flatMap((section) =>
    [...section.querySelectorAll('tbody tr')].map((row) => ({
      ...{ row, section },
      text: `${row.textContent} ${row.dataset.words}`.toLowerCase(),
    })),
  );

  function show() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = new Set();
    let number = 0;
    for (const { row, section, text } of rows) {
      const fits = words.every((word) => text.includes(word));
      row.hidden = !fits;
      if (!fits) continue;
      found.add(section);
      number += 1;
    }
    for (const section of sections) section.hidden = !found.has(section);
    count.textContent = words.length === 0 ? '' : `${number} of ${rows.length} codes`;
    none.hidden = number > 0;
    none.querySelector('.typed').textContent = field.value.trim();
  }

  function clear() {
    field.value = '';
    show();
    field.focus();
  }

  field.addEventListener('input', show);
  none.querySelector('button').addEventListener('click', clear);
  // A browser that goes back restores what was typed.
  if (field.value !== '') show();
}

openFilter(document.getElementById('filter'));
