import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { openCaptures } from './process.ts';

export const parts: AddOnParts = {
  open: openCaptures,
  // Only tests and `gatehouse replay` read files.
  readRecordings: async (text, file) => (await import('./file/recordings.ts')).readRecordings(text, file),
};
