// The slot of a key, which decides the server of a Cluster that has it.

export const SLOTS = 16_384;

/** The slot of a key (Redis Cluster specification, "Key distribution model"): CRC16/XMODEM of its hash tag, or of the whole key. */
export function slotOf(key: string): number {
  const opening = key.indexOf('{');
  const closing = opening < 0 ? -1 : key.indexOf('}', opening + 1);
  const hashed = closing > opening + 1 ? key.slice(opening + 1, closing) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}
