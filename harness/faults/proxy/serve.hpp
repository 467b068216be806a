// The process of the proxies: a tcp_proxy that obeys lines of JSON.
//
// Each line that it reads is a command, and each is answered by one line with its id:
//   {"id":1,"do":"open","host":"127.0.0.1","port":6379,"listen":0}   {"id":1,"link":0,"port":40001}
//   {"id":2,"do":"set","links":[0],"mode":"cut"}                     {"id":2}
//   {"id":3,"do":"set","links":[0,1],"mode":"delay","by_ns":1000000} {"id":3}
//   {"id":4,"do":"await","links":[0],"word":"SETNX","nth":1,
//    "answer":":1"}                                                {"id":4}
//   {"id":5,"do":"go","links":[0]}                                   {"id":5}
//   what it cannot do                                                {"id":6,"error":"a sentence"}
// Unasked it writes {"hit":0} once the answer to an awaited request has come on link 0, held back.
//
// It ends when its input does, which the kernel sees to when the parent dies, however that dies.
#pragma once

namespace lockmark::faults {

// Serves until `in` ends; the exit status. Its links die with it.
int serve_proxies(int in, int out);

}  // namespace lockmark::faults
