import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { files as operations } from './operations.ts';
import files from './plugins/files/index.ts';
import { checkFilesSettings } from './settings/check-files.ts';
import { compileFileLimits } from './settings/files.ts';
import { openFiles, sourceOf } from './snapshot.ts';

export const parts: AddOnParts = {
  plugins: [files],
  checks: [checkFilesSettings],
  added: { caller: ({ files }) => (files ? { files: compileFileLimits(files) } : {}) },
  operations,
  open: openFiles,
  dry: () => sourceOf(undefined),
};
