// Pure: spans of time in a list of admissions. Times are ascending milliseconds; spans include their beginning and not their end.

/** How many lie in the first window, which begins with the first admission. */
export function countOfFirst(atMs: readonly number[], windowMs: number): number {
  const endMs = (atMs[0] ?? 0) + windowMs;
  return atMs.filter((ms) => ms < endMs).length;
}

/** The most that any span of the window's length has seen. */
export function busiestSpan(atMs: readonly number[], windowMs: number): number {
  let most = 0;
  let from = 0;
  for (let to = 0; to < atMs.length; to += 1) {
    while ((atMs[from] as number) <= (atMs[to] as number) - windowMs) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

/** How many each full window has seen that follow one another from a moment on. */
export function countsOfWindows(atMs: readonly number[], windowMs: number, fromMs: number, endMs: number): number[] {
  const counts = new Array<number>(Math.max(0, Math.floor((endMs - fromMs) / windowMs))).fill(0);
  for (const ms of atMs) {
    const index = Math.floor((ms - fromMs) / windowMs);
    if (index >= 0 && index < counts.length) counts[index] = (counts[index] as number) + 1;
  }
  return counts;
}

/** The least that any span of this length has seen that ended in time. The leanest ones begin right after an admission. */
export function leanestSpan(atMs: readonly number[], spanMs: number, endMs: number): number {
  let least = Number.POSITIVE_INFINITY;
  let next = 0;
  for (let before = 0; before < atMs.length; before += 1) {
    const end = (atMs[before] as number) + 1 + spanMs;
    if (end > endMs) break;
    while (next < atMs.length && (atMs[next] as number) < end) next += 1;
    let inside = before + 1;
    while (inside < next && atMs[inside] === atMs[before]) inside += 1;
    least = Math.min(least, next - inside);
  }
  return least;
}
