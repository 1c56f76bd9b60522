import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { createAdminServer } from './admin-listener.ts';
import { ADMIN_AT_START, compileAdmin } from './settings/admin-settings.ts';

export const parts: AddOnParts = {
  adminSettings: compileAdmin,
  restartOnly: ADMIN_AT_START,
  createAdmin: createAdminServer,
};
