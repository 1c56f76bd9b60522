import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { createAdminServer } from './admin-listener.ts';
import { compileAdmin } from './settings/compile-admin.ts';
import { ADMIN_AT_START } from './settings/restart-only.ts';

export const parts: AddOnParts = {
  adminSettings: compileAdmin,
  restartOnly: ADMIN_AT_START,
  createAdmin: createAdminServer,
};
