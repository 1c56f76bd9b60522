import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { files as operations } from './operations.ts';
import files from './plugins/files/index.ts';
import { checkFilesSettings } from './settings/check-files.ts';
import { openFiles, sourceOf } from './process.ts';

export const parts: AddOnParts = {
  plugins: [files],
  checks: [checkFilesSettings],
  operations,
  open: openFiles,
  dry: () => sourceOf(undefined),
};
