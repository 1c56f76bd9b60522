import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../../plugin/index.ts';
import type { Boot } from './counters.ts';
import { version } from '../kernel/version.ts';

/** Identifies one run of a process to the state store. */
export const newBoot = (role: Boot['role'], clock: Pick<Clock, 'wall'>): Boot => ({
  id: randomBytes(16).toString('hex'),
  host: hostname(),
  role,
  version: version().version,
  configHash: '',
  startedAt: clock.wall(),
});
