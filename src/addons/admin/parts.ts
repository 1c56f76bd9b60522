import type { AddOnParts } from '../../core/add-on.ts';
import { createAdminServer } from './admin-listener.ts';

export const parts: AddOnParts = { createAdmin: createAdminServer };
