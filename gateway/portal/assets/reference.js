// Shows a contract with Swagger UI. Asks nobody but the host that served this page, and remembers nothing.

const place = document.getElementById('reference');
const dark = matchMedia('(prefers-color-scheme: dark)');

function followScheme() {
  document.documentElement.classList.toggle('dark-mode', dark.matches);
}

/** Swagger UI puts a link into the button of each operation; two controls in one cannot be told apart by whoever cannot see them. */
const plainNames = () => ({
  wrapComponents: {
    DeepLink: (_original, { React }) =>
      function Name({ text }) {
        return React.createElement('span', { className: 'nostyle' }, React.createElement('span', null, text));
      },
    // The page has said it all above.
    InfoContainer: () => () => null,
    ServersContainer: () => () => null,
  },
});

/** Names what Swagger UI leaves without a name, and lets the keyboard reach what scrolls. */
function nameControls() {
  for (const select of place.querySelectorAll('select:not([aria-label])')) {
    const parameter = select.closest('[data-param-name]')?.dataset.paramName;
    const isExample = select.classList.contains('examples-select-element');
    select.setAttribute('aria-label', isExample ? 'Example' : (parameter ?? 'Media type'));
  }
  for (const input of place.querySelectorAll('[data-param-name] :is(input, textarea):not([aria-label])')) {
    input.setAttribute('aria-label', input.closest('[data-param-name]').dataset.paramName);
  }
  for (const button of place.querySelectorAll('.close-modal:not([aria-label])'))
    button.setAttribute('aria-label', 'Close');
  for (const button of place.querySelectorAll('.modal-btn.authorize[aria-label]')) button.removeAttribute('aria-label');
  for (const body of place.querySelectorAll('textarea:not([aria-label])')) body.setAttribute('aria-label', 'Body');
  for (const code of place.querySelectorAll('pre:not([tabindex])')) code.setAttribute('tabindex', '0');
}

/**
 * Swagger UI would send the examples of parameters that nobody filled in, and a cursor that was made up is refused: they become part of
 * the description.
 */
function tellExamples(spec) {
  const paths = Object.values(spec.paths).flatMap((item) => [item, ...Object.values(item)]);
  const listed = paths.flatMap(({ parameters = [] }) => parameters);
  for (const parameter of [...listed, ...Object.values(spec.components?.parameters ?? {})]) {
    if (parameter.required || parameter.example === undefined) continue;
    parameter.description = `${parameter.description ?? ''} Example: \`${parameter.example}\`.`.trim();
    delete parameter.example;
  }
}

async function show() {
  const { document: address, try: tryable, expansion } = place.dataset;
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`The contract could not be read (${answer.status}).`);
  const spec = await answer.json();
  // Whatever name the reader came by: requests go where the page came from.
  spec.servers = [{ url: location.origin }];
  tellExamples(spec);
  new MutationObserver(nameControls).observe(place, { childList: true, subtree: true });
  SwaggerUIBundle({
    spec,
    domNode: place,
    plugins: [plainNames],
    deepLinking: true,
    docExpansion: expansion,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    persistAuthorization: false,
    supportedSubmitMethods: tryable === 'true' ? undefined : [],
    tagsSorter: 'alpha',
    validatorUrl: null,
  });
}

followScheme();
dark.addEventListener('change', followScheme);
show().catch((error) => {
  place.textContent = error.message;
});
