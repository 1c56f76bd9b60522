// Old Node versions must be able to parse this file too: plain JavaScript with the syntax of Node 12.
import { isSupported } from './node-version.js';

// Without a listener this signal opens the inspector, through which any process of the same user can run code here.
// `--disable-sigusr1` does the same from the start (Node 22.14); `npm start` and worker processes set it.
process.on('SIGUSR1', () => {});

if (isSupported) void import('./start.ts');
