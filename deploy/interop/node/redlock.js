// node-redlock behind the line protocol of drivers/exec/README.md. It tries once a call: how to try
// again is the workload's affair.
"use strict";
const fs = require("fs");
const readline = require("readline");
const Redis = require("ioredis");
const { default: Redlock, ResourceLockedError } = require("redlock");

const now = () => Number(process.hrtime.bigint());
const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
// Not by require(): redlock does not export its package.json.
const version = (name) =>
  JSON.parse(fs.readFileSync(`${__dirname}/node_modules/${name}/package.json`)).version.replace("v", "");

let hello, nodes, redlock;
const names = [];
const held = new Map();  // by "client/key"

function connect() {
  const { hosts, user, password, path, tls, tls_verify } = hello.server;
  nodes = hosts.map((address) => {
    const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(address);
    const node = new Redis({
      host,
      port: Number(port),
      username: user || undefined,
      password: password || undefined,
      db: Number(path || 0),
      tls: tls ? { rejectUnauthorized: tls_verify } : undefined,
    });
    node.on("error", (e) => process.stderr.write(`${address}: ${e.message}\n`));
    return node;
  });
  redlock = new Redlock(nodes, { retryCount: 0, automaticExtensionThreshold: 0 });
  redlock.on("error", () => {});  // every refusal is one, and is told to the caller anyway
}

// The most of the nodes have to answer within the time.
async function reach() {
  const quorum = Math.floor(nodes.length / 2) + 1;
  const late = new Promise((_, no) =>
    setTimeout(() => no(new Error(`no answer from ${hello.server.hosts}`)), hello.within_ms));
  let answered = 0;
  const enough = new Promise((yes) =>
    nodes.forEach((n) => n.ping().then(() => { if (++answered >= quorum) yes(); }, () => {})));
  await Promise.race([enough, late]);
}

// Did a majority say that another holds it, or did it just not answer?
async function wasHeld(error) {
  if (error instanceof ResourceLockedError) return true;
  const attempts = await Promise.all(error.attempts || []);
  return attempts.some(({ votesAgainst }) =>
    [...votesAgainst.values()].some((e) => e instanceof ResourceLockedError));
}

const left = (lock) => Math.max(0, Math.floor(lock.expiration - Date.now()));

async function acquire(call, place) {
  try {
    const lock = await redlock.acquire([names[call.key]], call.lease_ms);
    held.set(place, lock);
    return { outcome: "granted", valid_ms: left(lock) };
  } catch (e) {
    const busy = await wasHeld(e);
    return busy ? { outcome: "refused", why: "busy" } : { outcome: "doubt", why: "lost" };
  }
}

async function release(call, place) {
  const lock = held.get(place);
  if (!lock) return { outcome: "refused", why: "not_owner" };
  held.delete(place);
  try {
    await redlock.release(lock);
    return { outcome: "granted" };
  } catch (e) {
    return (await wasHeld(e)) || lock.expiration < Date.now()
      ? { outcome: "refused", why: "not_owner" } : { outcome: "doubt", why: "lost" };
  }
}

async function renew(call, place) {
  const lock = held.get(place);
  if (!lock) return { outcome: "refused", why: "not_owner" };
  try {
    const longer = await redlock.extend(lock, call.lease_ms);
    held.set(place, longer);
    return { outcome: "granted", valid_ms: left(longer) };
  } catch (e) {
    return (await wasHeld(e)) || lock.expiration < Date.now()
      ? { outcome: "refused", why: "not_owner" } : { outcome: "doubt", why: "lost" };
  }
}

async function wipe() {
  for (const node of nodes) {
    for (const name of names) await node.del(name);
  }
  return { outcome: "granted" };
}

const operations = { acquire, release, renew, wipe };
const queues = new Map();  // of a client: the promise of its last call

async function serve(call, received) {
  const began = now();
  let ending;
  try {
    ending = await operations[call.op](call, `${call.client}/${call.key}`);
  } catch (e) {
    process.stderr.write(`${call.op}: ${e.message}\n`);
    ending = { outcome: "doubt", why: "lost" };
  }
  const ended = now();
  say({ id: call.id, ...ending, received, began, ended, sent: now() });
}

async function greet() {
  for (const key of hello.keys) names.push(hello.prefix + key);
  connect();
  try {
    await reach();
    say({ ready: true, version: `node-redlock ${version("redlock")}, ioredis ${version("ioredis")}` });
  } catch (e) {
    say({ failed: e.message });
  }
}

const lines = readline.createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const received = now();
  const call = JSON.parse(line);
  if (!hello) {
    hello = call;
    greet();
  } else if (call.op === "close") {
    process.exit(0);
  } else {
    const before = queues.get(call.client) || Promise.resolve();
    queues.set(call.client, before.then(() => serve(call, received)));
  }
});
lines.on("close", () => process.exit(0));
