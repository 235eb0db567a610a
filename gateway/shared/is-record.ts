// Tells objects from the other values of parsed JSON and YAML. Pure.

/** Whether a value of parsed JSON or YAML is an object, which is neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a member that is an object; an empty object if there is none. */
export function objectAt(value: unknown, name: string): Record<string, unknown> {
  const found = isRecord(value) ? value[name] : undefined;
  return isRecord(found) ? found : {};
}
