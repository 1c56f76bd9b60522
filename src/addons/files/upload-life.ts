import { UPLOAD_LIFE_MS } from '../../core/kernel/index.ts';
import { createdAt } from './file-ids.ts';

/** An upload in pieces whose client sends nothing for this long is removed. */
const IDLE_MS = 60 * 60 * 1000;

/** @param touchedAt when the last of its bytes was stored */
export const isOver = (id: string, touchedAt: number, now: number): boolean =>
  now - touchedAt > IDLE_MS || now - createdAt(id) > UPLOAD_LIFE_MS;
