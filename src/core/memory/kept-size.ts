import type { NewResponse } from '../kernel/index.ts';

/** Upper estimates of the memory of an entry besides its bytes, and of each of its items. */
const ENTRY_BYTES = 512;
const ITEM_BYTES = 256;

export const overheadOf = (items: number): number => ENTRY_BYTES + ITEM_BYTES * items;

/** The memory that a kept response takes, in bytes. */
export const sizeOf = ({ response, input, items }: Omit<NewResponse, 'id'>): number =>
  overheadOf(items?.length ?? 0) + response.length + input.length;
