// Every Node must be able to parse this file, old ones too: JavaScript, and only what Node 12 knows.
import { isSupported } from './node-version.js';

// Without a listener this signal opens the inspector, by which any process of the same user runs code here. `--disable-sigusr1`
// does the same from the first moment on (Node 22.14); `npm start` and worker processes have it.
process.on('SIGUSR1', () => {});

if (isSupported) void import('./start.ts');
