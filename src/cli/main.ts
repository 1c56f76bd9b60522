#!/usr/bin/env node
// Plain JavaScript from here on: an old Node has to parse it to print the version it needs.
import './entry.js';
