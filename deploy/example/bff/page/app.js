// A page that holds no token: the browser sends the cookie of the session by itself, and the gateway knows the person by it.

const at = (id) => document.getElementById(id);

/** Asks the API. Without a session it goes to sign in, and comes back to this page. */
async function ask(path, init = {}) {
  const answer = await fetch(path, init);
  const body = answer.status === 204 ? undefined : await answer.json();
  if (answer.ok) return body;
  const { code, message, request_id: requestId } = body.error;
  if (code === 'session_required' || code === 'session_expired') {
    // What was being written survives the way to the provider and back.
    sessionStorage.setItem('notes', at('job').notes.value);
    show(false);
    at('problem').textContent = code === 'session_expired' ? 'Your session has ended. Sign in again.' : '';
    throw new Error(code);
  }
  at('problem').textContent = `${message} (${requestId})`;
  throw new Error(code);
}

function show(isSignedIn) {
  at('signed-in').hidden = !isSignedIn;
  at('signed-out').hidden = isSignedIn;
}

function listItem(text) {
  const item = document.createElement('li');
  item.textContent = text;
  return item;
}

/** Does something when the person asks for it; `ask` has told what went wrong. */
function on(id, event, act) {
  at(id).addEventListener(event, (about) => void act(about).catch(() => undefined));
}

at('sign-in').href = `/session/login?return_to=${encodeURIComponent(location.pathname + location.search)}`;

on('sign-out', 'click', async () => {
  const { provider_logout_url: address } = await ask('/session/logout', { method: 'POST' });
  tabs.postMessage('signed out');
  // Signs out at the provider too; it comes back to `afterLogout`.
  if (address === null) show(false);
  else location.assign(address);
});

/** The other tabs of this browser have no session either now. */
const tabs = new BroadcastChannel('session');
tabs.onmessage = () => show(false);

/** One key per job, made before the first attempt: a repetition creates nothing twice. */
let key = crypto.randomUUID();

on('job', 'submit', async (event) => {
  event.preventDefault();
  const { customer_id: customer, notes } = event.target;
  const job = await ask('/v1/jobs', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({
      customer_id: customer.value,
      service_type: 'maintenance',
      scheduled_at: new Date(Date.now() + 86_400_000).toISOString(),
      notes: notes.value,
    }),
  });
  key = crypto.randomUUID();
  event.target.reset();
  at('problem').textContent = `Created ${job.id}.`;
});

on('save', 'click', () =>
  ask('/v1/files/example.txt', {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: new Date().toISOString(),
  }),
);

function watch() {
  const events = new EventSource('/v1/file-events');
  for (const type of ['file.saved', 'file.deleted'])
    events.addEventListener(type, ({ data }) => at('events').prepend(listItem(`${type} ${data}`)));
  // When the session ends, the stream does too, and the next attempt is refused.
  events.onerror = () => {
    if (events.readyState === EventSource.CLOSED) ask('/session').catch(() => undefined);
  };
}

async function begin() {
  const session = await ask('/session');
  show(true);
  at('name').textContent = session.name ?? session.subject;
  const { data } = await ask('/v1/customers?limit=10');
  at('customers').replaceChildren(
    ...data.map(({ name, email }) => listItem(email === null ? name : `${name}, ${email}`)),
  );
  at('job').customer_id.replaceChildren(...data.map(({ id, name }) => new Option(name, id)));
  at('job').notes.value = sessionStorage.getItem('notes') ?? '';
  sessionStorage.removeItem('notes');
  watch();
}

begin().catch(() => undefined);
