import { join } from 'node:path';
import { testBrokenSettings } from '../../../core/settings/read/broken-settings.testkit.ts';

testBrokenSettings(join(import.meta.dirname, 'goldens'));
