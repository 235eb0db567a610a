// Computes the hash slot of a key. The slot decides which server of a Redis Cluster stores the key.

export const SLOTS = 16_384;

/** Returns CRC16/XMODEM of the hash tag, or of the whole key (Redis Cluster specification, "Key distribution model"). */
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
