import type { NewResponse } from '../kernel/index.ts';

/** An upper estimate of the memory of an entry: two arrays of 64 bytes and more for it while the table grows. */
const ENTRY_BYTES = 192;

export const overheadOf = (items: number): number => ENTRY_BYTES * (1 + items);

/** The memory that a kept response takes, in bytes. */
export const sizeOf = ({ response, input, items }: Omit<NewResponse, 'id'>): number =>
  overheadOf(items?.length ?? 0) + response.length + input.length;
