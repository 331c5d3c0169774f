// Command bench measures the running program against a peer, interleaved in one run, and prints ratios.
//
//	go run ./bench                      # tools/call and tools/list against a bare MCP SDK server
//	go run ./bench -rounds 9 -seconds 3 # longer
//	go run ./bench -tokens 1000,100000  # code exchange, refresh and a call, with so many connections, against a bare floor
//	go run ./bench -start               # time to the first answer, memory, size of the binary
//
// Each round loads every server for the same time, one after the other; the figures are medians over the rounds. CPU is
// what the server's own process used, read from the kernel, divided by the requests it answered. Absolute figures hold
// for the machine they were taken on; the ratios are what to compare.
package main
