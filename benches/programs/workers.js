// Two workers that add to a shared counter, for `cargo xtask bench machine`. Each reads it and writes it back, so an addition can be lost,
// and the script then ends with status 1.
//
// usage: qjs workers.js
import * as os from "qjs:os";
import * as std from "qjs:std";

const WORKERS = 2;
const ROUNDS = 2;

if (os.Worker.parent) {
    os.Worker.parent.onmessage = function (event) {
        const cells = event.data.cells;
        for (let round = 0; round < ROUNDS; round++)
            cells[0] = cells[0] + 1;
        os.Worker.parent.postMessage("done");
        os.Worker.parent.onmessage = null;
    };
} else {
    const cells = new Int32Array(new SharedArrayBuffer(4));
    let left = WORKERS;
    for (let number = 0; number < WORKERS; number++) {
        const worker = new os.Worker("./workers.js");
        worker.onmessage = function () {
            worker.onmessage = null;
            left--;
            if (left == 0 && cells[0] != WORKERS * ROUNDS)
                std.exit(1);
        };
        worker.postMessage({ cells: cells });
    }
}
