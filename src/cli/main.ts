#!/usr/bin/env node
// Plain JavaScript from here on: an old Node has to parse it to say which Node it needs.
import './entry.js';
