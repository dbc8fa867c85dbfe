//! The driver functions that are exported and forwarded: those `cust` 0.3.2 refers to, and those a caller of its `sys`
//! module needs beside it (stream capture and graphs, cooperative launch, peer access, pinned memory).
//!
//! To add one, write its name with the version suffix the symbol has in `libcuda.so.1` (what `cuda.h` maps the plain
//! name to) and its parameters: `Ptr` for any pointer or handle, `i32` for an enumeration, `u64` for a device address.

use crate::forward::forward;
use std::ffi::c_void;

type Ptr = *mut c_void;

forward! {
    cuInit(flags: u32);
    cuDriverGetVersion(driver_version: Ptr);

    cuDeviceCanAccessPeer(can_access_peer: Ptr, dev: i32, peer_dev: i32);
    cuDeviceGet(device: Ptr, ordinal: i32);
    cuDeviceGetAttribute(pi: Ptr, attrib: i32, dev: i32);
    cuDeviceGetCount(count: Ptr);
    cuDeviceGetDefaultMemPool(pool_out: Ptr, dev: i32);
    cuDeviceGetName(name: Ptr, len: i32, dev: i32);
    cuDeviceGetPCIBusId(pci_bus_id: Ptr, len: i32, dev: i32);
    cuDeviceGetUuid(uuid: Ptr, dev: i32);
    cuDevicePrimaryCtxGetState(dev: i32, flags: Ptr, active: Ptr);
    cuDevicePrimaryCtxRelease_v2(dev: i32);
    cuDevicePrimaryCtxReset_v2(dev: i32);
    cuDevicePrimaryCtxRetain(pctx: Ptr, dev: i32);
    cuDevicePrimaryCtxSetFlags_v2(dev: i32, flags: u32);
    cuDeviceTotalMem_v2(bytes: Ptr, dev: i32);

    cuCtxCreate_v2(pctx: Ptr, flags: u32, dev: i32);
    cuCtxDestroy_v2(ctx: Ptr);
    cuCtxDisablePeerAccess(peer_context: Ptr);
    cuCtxEnablePeerAccess(peer_context: Ptr, flags: u32);
    cuCtxGetApiVersion(ctx: Ptr, version: Ptr);
    cuCtxGetCacheConfig(pconfig: Ptr);
    cuCtxGetCurrent(pctx: Ptr);
    cuCtxGetDevice(device: Ptr);
    cuCtxGetFlags(flags: Ptr);
    cuCtxGetLimit(pvalue: Ptr, limit: i32);
    cuCtxGetSharedMemConfig(p_config: Ptr);
    cuCtxGetStreamPriorityRange(least_priority: Ptr, greatest_priority: Ptr);
    cuCtxPopCurrent_v2(pctx: Ptr);
    cuCtxPushCurrent_v2(ctx: Ptr);
    cuCtxSetCacheConfig(config: i32);
    cuCtxSetCurrent(ctx: Ptr);
    cuCtxSetLimit(limit: i32, value: usize);
    cuCtxSetSharedMemConfig(config: i32);
    cuCtxSynchronize();

    cuModuleGetFunction(hfunc: Ptr, hmod: Ptr, name: Ptr);
    cuModuleGetGlobal_v2(dptr: Ptr, bytes: Ptr, hmod: Ptr, name: Ptr);
    cuModuleLoad(module: Ptr, fname: Ptr);
    cuModuleLoadData(module: Ptr, image: Ptr);
    cuModuleLoadDataEx(module: Ptr, image: Ptr, num_options: u32, options: Ptr, option_values: Ptr);
    cuModuleUnload(hmod: Ptr);

    cuLinkAddData_v2(state: Ptr, kind: i32, data: Ptr, size: usize, name: Ptr, num_options: u32, options: Ptr, option_values: Ptr);
    cuLinkComplete(state: Ptr, cubin_out: Ptr, size_out: Ptr);
    cuLinkCreate_v2(num_options: u32, options: Ptr, option_values: Ptr, state_out: Ptr);
    cuLinkDestroy(state: Ptr);

    cuFuncGetAttribute(pi: Ptr, attrib: i32, hfunc: Ptr);
    cuFuncSetAttribute(hfunc: Ptr, attrib: i32, value: i32);
    cuFuncSetCacheConfig(hfunc: Ptr, config: i32);
    cuFuncSetSharedMemConfig(hfunc: Ptr, config: i32);

    cuOccupancyAvailableDynamicSMemPerBlock(dynamic_smem_size: Ptr, func: Ptr, num_blocks: i32, block_size: i32);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(num_blocks: Ptr, func: Ptr, block_size: i32, dynamic_smem_size: usize);
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(num_blocks: Ptr, func: Ptr, block_size: i32, dynamic_smem_size: usize, flags: u32);
    cuOccupancyMaxPotentialBlockSize(min_grid_size: Ptr, block_size: Ptr, func: Ptr, block_size_to_dynamic_smem_size: Ptr, dynamic_smem_size: usize, block_size_limit: i32);

    cuLaunchCooperativeKernel(f: Ptr, grid_dim_x: u32, grid_dim_y: u32, grid_dim_z: u32, block_dim_x: u32, block_dim_y: u32, block_dim_z: u32, shared_mem_bytes: u32, h_stream: Ptr, kernel_params: Ptr);
    cuLaunchHostFunc(h_stream: Ptr, function: Ptr, user_data: Ptr);
    cuLaunchKernel(f: Ptr, grid_dim_x: u32, grid_dim_y: u32, grid_dim_z: u32, block_dim_x: u32, block_dim_y: u32, block_dim_z: u32, shared_mem_bytes: u32, h_stream: Ptr, kernel_params: Ptr, extra: Ptr);

    cuMemAdvise(dev_ptr: u64, count: usize, advice: i32, device: i32);
    cuMemAllocAsync(dptr: Ptr, bytesize: usize, h_stream: Ptr);
    cuMemAllocHost_v2(pp: Ptr, bytesize: usize);
    cuMemAllocManaged(dptr: Ptr, bytesize: usize, flags: u32);
    cuMemAlloc_v2(dptr: Ptr, bytesize: usize);
    cuMemFreeAsync(dptr: u64, h_stream: Ptr);
    cuMemFreeHost(p: Ptr);
    cuMemFree_v2(dptr: u64);
    cuMemGetInfo_v2(free: Ptr, total: Ptr);
    cuMemHostAlloc(pp: Ptr, bytesize: usize, flags: u32);
    cuMemHostGetDevicePointer_v2(pdptr: Ptr, p: Ptr, flags: u32);
    cuMemHostRegister_v2(p: Ptr, bytesize: usize, flags: u32);
    cuMemHostUnregister(p: Ptr);
    cuMemPoolGetAttribute(pool: Ptr, attribute: i32, value: Ptr);
    cuMemPoolSetAttribute(pool: Ptr, attribute: i32, value: Ptr);
    cuMemPoolTrimTo(pool: Ptr, min_bytes_to_keep: usize);
    cuMemPrefetchAsync(dev_ptr: u64, count: usize, dst_device: i32, h_stream: Ptr);
    cuMemcpy(dst: u64, src: u64, byte_count: usize);
    cuMemcpy2DAsync_v2(p_copy: Ptr, h_stream: Ptr);
    cuMemcpy2D_v2(p_copy: Ptr);
    cuMemcpyAsync(dst: u64, src: u64, byte_count: usize, h_stream: Ptr);
    cuMemcpyAtoH_v2(dst_host: Ptr, src_array: Ptr, src_offset: usize, byte_count: usize);
    cuMemcpyDtoDAsync_v2(dst_device: u64, src_device: u64, byte_count: usize, h_stream: Ptr);
    cuMemcpyDtoD_v2(dst_device: u64, src_device: u64, byte_count: usize);
    cuMemcpyDtoHAsync_v2(dst_host: Ptr, src_device: u64, byte_count: usize, h_stream: Ptr);
    cuMemcpyDtoH_v2(dst_host: Ptr, src_device: u64, byte_count: usize);
    cuMemcpyHtoA_v2(dst_array: Ptr, dst_offset: usize, src_host: Ptr, byte_count: usize);
    cuMemcpyHtoDAsync_v2(dst_device: u64, src_host: Ptr, byte_count: usize, h_stream: Ptr);
    cuMemcpyHtoD_v2(dst_device: u64, src_host: Ptr, byte_count: usize);
    cuMemcpyPeer(dst_device: u64, dst_context: Ptr, src_device: u64, src_context: Ptr, byte_count: usize);
    cuMemcpyPeerAsync(dst_device: u64, dst_context: Ptr, src_device: u64, src_context: Ptr, byte_count: usize, h_stream: Ptr);
    cuMemsetD16Async(dst_device: u64, us: u16, n: usize, h_stream: Ptr);
    cuMemsetD16_v2(dst_device: u64, us: u16, n: usize);
    cuMemsetD32Async(dst_device: u64, ui: u32, n: usize, h_stream: Ptr);
    cuMemsetD32_v2(dst_device: u64, ui: u32, n: usize);
    cuMemsetD8Async(dst_device: u64, uc: u8, n: usize, h_stream: Ptr);
    cuMemsetD8_v2(dst_device: u64, uc: u8, n: usize);

    cuPointerGetAttribute(data: Ptr, attribute: i32, ptr: u64);

    cuStreamBeginCapture_v2(h_stream: Ptr, mode: i32);
    cuStreamCreate(ph_stream: Ptr, flags: u32);
    cuStreamCreateWithPriority(ph_stream: Ptr, flags: u32, priority: i32);
    cuStreamDestroy_v2(h_stream: Ptr);
    cuStreamEndCapture(h_stream: Ptr, ph_graph: Ptr);
    cuStreamGetFlags(h_stream: Ptr, flags: Ptr);
    cuStreamGetPriority(h_stream: Ptr, priority: Ptr);
    cuStreamIsCapturing(h_stream: Ptr, capture_status: Ptr);
    cuStreamQuery(h_stream: Ptr);
    cuStreamSynchronize(h_stream: Ptr);
    cuStreamWaitEvent(h_stream: Ptr, h_event: Ptr, flags: u32);

    cuEventCreate(ph_event: Ptr, flags: u32);
    cuEventDestroy_v2(h_event: Ptr);
    cuEventElapsedTime(p_milliseconds: Ptr, h_start: Ptr, h_end: Ptr);
    cuEventQuery(h_event: Ptr);
    cuEventRecord(h_event: Ptr, h_stream: Ptr);
    cuEventRecordWithFlags(h_event: Ptr, h_stream: Ptr, flags: u32);
    cuEventSynchronize(h_event: Ptr);

    cuGraphAddKernelNode(ph_graph_node: Ptr, h_graph: Ptr, dependencies: Ptr, num_dependencies: usize, node_params: Ptr);
    cuGraphAddMemcpyNode(ph_graph_node: Ptr, h_graph: Ptr, dependencies: Ptr, num_dependencies: usize, copy_params: Ptr, ctx: Ptr);
    cuGraphAddMemsetNode(ph_graph_node: Ptr, h_graph: Ptr, dependencies: Ptr, num_dependencies: usize, memset_params: Ptr, ctx: Ptr);
    cuGraphClone(ph_graph_clone: Ptr, original_graph: Ptr);
    cuGraphCreate(ph_graph: Ptr, flags: u32);
    cuGraphDebugDotPrint(h_graph: Ptr, path: Ptr, flags: u32);
    cuGraphDestroy(h_graph: Ptr);
    cuGraphExecDestroy(h_graph_exec: Ptr);
    cuGraphExecKernelNodeSetParams(h_graph_exec: Ptr, h_node: Ptr, node_params: Ptr);
    cuGraphExecUpdate(h_graph_exec: Ptr, h_graph: Ptr, h_error_node_out: Ptr, update_result_out: Ptr);
    cuGraphGetEdges(h_graph: Ptr, from: Ptr, to: Ptr, num_edges: Ptr);
    cuGraphGetNodes(h_graph: Ptr, nodes: Ptr, num_nodes: Ptr);
    cuGraphInstantiateWithFlags(ph_graph_exec: Ptr, h_graph: Ptr, flags: u64);
    cuGraphInstantiate_v2(ph_graph_exec: Ptr, h_graph: Ptr, ph_error_node: Ptr, log_buffer: Ptr, buffer_size: usize);
    cuGraphKernelNodeGetParams(h_node: Ptr, node_params: Ptr);
    cuGraphKernelNodeSetParams(h_node: Ptr, node_params: Ptr);
    cuGraphLaunch(h_graph_exec: Ptr, h_stream: Ptr);
    cuGraphNodeGetType(h_node: Ptr, kind: Ptr);
    cuGraphUpload(h_graph_exec: Ptr, h_stream: Ptr);

    cuArray3DCreate_v2(p_handle: Ptr, p_allocate_array: Ptr);
    cuArray3DGetDescriptor_v2(p_array_descriptor: Ptr, h_array: Ptr);
    cuArrayDestroy(h_array: Ptr);

    cuTexObjectCreate(p_tex_object: Ptr, p_res_desc: Ptr, p_tex_desc: Ptr, p_res_view_desc: Ptr);
    cuTexObjectDestroy(tex_object: u64);
    cuTexObjectGetResourceDesc(p_res_desc: Ptr, tex_object: u64);
    cuTexObjectGetResourceViewDesc(p_res_view_desc: Ptr, tex_object: u64);

    cuSurfObjectCreate(p_surf_object: Ptr, p_res_desc: Ptr);
    cuSurfObjectDestroy(surf_object: u64);
    cuSurfObjectGetResourceDesc(p_res_desc: Ptr, surf_object: u64);

    cuDestroyExternalMemory(ext_mem: Ptr);
    cuExternalMemoryGetMappedBuffer(dev_ptr: Ptr, ext_mem: Ptr, buffer_desc: Ptr);
    cuImportExternalMemory(ext_mem_out: Ptr, mem_handle_desc: Ptr);
}
