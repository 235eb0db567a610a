// A volume as Kubernetes mounts a ConfigMap or a Secret: `..data` is a link to a directory with the files, each file a link through it. An
// update makes a new directory and points `..data` at it in one step.

import { mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Volume {
  /** Replaces all files at once, as the kubelet does when the object has changed. */
  update(files: Readonly<Record<string, string>>): void;
}

/** Mounts the files, by their paths, at a directory that is made for it. */
export function mountVolume(directory: string, files: Readonly<Record<string, string>>): Volume {
  let version = 0;
  function write(content: Readonly<Record<string, string>>): string {
    const name = `..2026_01_01_00_00_${String(version++).padStart(2, '0')}.1`;
    for (const [path, text] of Object.entries(content)) {
      const file = join(directory, name, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    return name;
  }
  mkdirSync(directory, { recursive: true });
  symlinkSync(write(files), join(directory, '..data'));
  const tops = new Set(Object.keys(files).map((path) => path.split('/')[0] as string));
  for (const top of tops) symlinkSync(join('..data', top), join(directory, top));
  return {
    update(next) {
      const former = readlinkSync(join(directory, '..data'));
      symlinkSync(write(next), join(directory, '..data_tmp'));
      renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
      rmSync(join(directory, former), { recursive: true });
    },
  };
}
