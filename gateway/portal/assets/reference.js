// Shows a contract with Swagger UI. Sends requests only to the host of this page, and stores nothing.

const place = document.getElementById('reference');
const dark = matchMedia('(prefers-color-scheme: dark)');

function followScheme() {
  document.documentElement.classList.toggle('dark-mode', dark.matches);
}

/** Swagger UI puts a link into the button of each operation. Screen readers cannot distinguish two nested controls. */
const plainNames = () => ({
  wrapComponents: {
    DeepLink: (_original, { React }) =>
      function Name({ text }) {
        return React.createElement('span', { className: 'nostyle' }, React.createElement('span', null, text));
      },
    // The page already shows this above.
    InfoContainer: () => () => null,
    ServersContainer: () => () => null,
  },
});

/** Adds labels to Swagger UI's unnamed controls, and makes scrollable blocks reachable by keyboard. */
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
 * Moves the examples of optional parameters into their descriptions. Swagger UI would send them as values, and an invented cursor is
 * refused.
 */
function describeExamples(spec) {
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
  // Requests go to the origin of the page, whatever host name the reader used.
  spec.servers = [{ url: location.origin }];
  describeExamples(spec);
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
