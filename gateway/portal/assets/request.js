// Loads the script of the form of a request when a reader opens the form. Most readers only read.

const form = document.querySelector('form.try');

if (form !== null) {
  const place = document.querySelector('.try-answer');
  const load = () => import('./request-form.js');
  const show = async () => (await load()).showSamples(form);
  form.addEventListener('focusin', load, { once: true });
  form.addEventListener('input', show);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    (await load()).send(form, place);
  });
  form.querySelector('#try-example')?.addEventListener('change', ({ target }) => {
    form.querySelector('#try-body').value = target.value;
    show();
  });
}
