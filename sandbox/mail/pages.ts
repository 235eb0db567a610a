// The pages of the web panel. The real one is an application in the browser, so every path it could have answers the
// same index page; only the entrance is a page of its own here.
import { html } from './answers.ts';

const page = (title: string, body: string) =>
  html(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body>
${body}
</body>
</html>
`);

export const INDEX_PAGE = page(
  'Mail server',
  '<main><h1>Mail server</h1><p><a href="/login">Sign in to the administration</a></p></main>',
);

export const LOGIN_PAGE = page(
  'Mail server: sign in',
  `<main>
<h1>Sign in</h1>
<form id="login">
<label>Name <input name="name" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button>
</form>
<p id="result" role="status"></p>
<ul id="principals"></ul>
</main>
<script>
const form = document.getElementById('login');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const pair = new TextEncoder().encode(form.elements.name.value + ':' + form.elements.password.value);
  const authorization = 'Basic ' + btoa(String.fromCharCode(...pair));
  const answer = await fetch('/api/principal?fields=name&limit=100', { headers: { authorization } });
  const { data, title, error } = await answer.json();
  document.getElementById('result').textContent = data ? data.total + ' principals' : title || error;
  const items = (data ? data.items : []).map(({ name, type }) => {
    const item = document.createElement('li');
    item.textContent = name + ' (' + type + ')';
    return item;
  });
  document.getElementById('principals').replaceChildren(...items);
});
</script>`,
);
