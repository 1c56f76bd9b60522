import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { createAdminServer } from './admin-listener.ts';

export const parts: AddOnParts = { createAdmin: createAdminServer };
