// The state of the gateway's credential at an upstream, as `/status`, metrics, the console and the service for operators have it.

/**
 * `unproven`: one request at a time is sent with it. `proven`: the upstream has accepted it. `latched`: it cannot be used, so requests are
 * suspended.
 */
export type CredentialState = 'unproven' | 'proven' | 'latched';
