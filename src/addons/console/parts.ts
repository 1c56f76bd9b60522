import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { openConsole } from './process.ts';
import { checkKeptRecords, RECORDS_AT_START } from './settings/kept-records-settings.ts';

export const parts: AddOnParts = { open: openConsole, checks: [checkKeptRecords], restartOnly: RECORDS_AT_START };
