// Commands on lists.

import { type Dataset, integer } from '../dataset.ts';
import { fail, OK } from '../reply.ts';
import { type Commands, slice } from './command.ts';

const listAt = (data: Dataset, key: string) => data.read(key, 'list');

export const listCommands: Commands = {
  llen: { arity: 2, run: (data, [key = '']) => listAt(data, key)?.length ?? 0 },
  lindex: {
    arity: 3,
    run: (data, [key = '', index = '']) => {
      const list = listAt(data, key);
      return list?.at(integer(index)) ?? null;
    },
  },
  lrange: {
    arity: 4,
    run(data, [key = '', from = '', to = '']) {
      const [first, last] = [integer(from), integer(to)];
      return slice(listAt(data, key) ?? [], first, last);
    },
  },
  lpos: {
    arity: -3,
    run(data, [key = '', value = '']) {
      const index = listAt(data, key)?.indexOf(value) ?? -1;
      return index < 0 ? null : index;
    },
  },
  rpush: {
    arity: -3,
    writes: true,
    allocates: true,
    run(data, [key = '', ...values]) {
      return data.change(key, 'list', () => []).push(...values);
    },
  },
  lset: {
    arity: 4,
    writes: true,
    allocates: true,
    run(data, [key = '', index = '', value = '']) {
      const list = listAt(data, key) ?? fail('ERR no such key');
      const at = integer(index) < 0 ? list.length + integer(index) : integer(index);
      if (at < 0 || at >= list.length) fail('ERR index out of range');
      list[at] = value;
      return OK;
    },
  },
  ltrim: {
    arity: 4,
    writes: true,
    run(data, [key = '', from = '', to = '']) {
      const [first, last] = [integer(from), integer(to)];
      const list = listAt(data, key);
      if (list === undefined) return OK;
      const kept = slice(list, first, last);
      list.splice(0, list.length, ...kept);
      data.removeIfEmpty(key, list.length);
      return OK;
    },
  },
};
